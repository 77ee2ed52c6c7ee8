// The entry of the thread that holds tapes and keyframes for those who scrub through logs.
import { Piscina } from 'piscina'
import { openTapes, type TapeSetup } from '../services/replay/inThread/tapeTasks.js'
import { answerWith } from './residentAnswer.js'

export default answerWith(Promise.resolve(openTapes(Piscina.workerData as TapeSetup)))
