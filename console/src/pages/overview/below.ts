// What the overview has below its first lines, in one file that is loaded after them.
export { Charts } from './Charts'
export { Lanes } from './Lanes'
