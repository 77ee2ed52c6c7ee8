// Code that V8 is slow at, written in another form of the same meaning while it is bundled: so nobody has to write it
// that way by hand, and packages get it, too. Measured with Node 20.
import { parseAst } from 'rolldown/parseAst'

// A function that is written down as the value of a property (`this.resolve = (x) => …`) is put among the old objects at
// once. The driver does so twice in every query, and each such function, dead or not, keeps query and rows from being
// collected as the young objects they are: long pauses, and memory that grows until all of it is collected.
const SETTLED_BY = /^ {4}this\.(resolve|reject) = (x => \(this\.active = false, \1\(x\)\))$/gm

export const queriesStayYoung = {
  name: 'queries-stay-young',
  transform(code, id) {
    if (!id.endsWith('/node_modules/postgres/src/query.js')) return null
    let found = 0
    const changed = code.replace(SETTLED_BY, (_, name, settle) => {
      found += 1
      return `    const ${name}Once = ${settle}; this.${name} = ${name}Once`
    })
    if (found !== 2) throw new Error('the queries of the driver are written differently: see SETTLED_BY')
    return { code: changed, map: null }
  },
}

// `{ ...order, paid: true }` gives its object a shape of its own every time, which takes microseconds to make, is found in
// no cache when the object is read, and is garbage among the old objects. `{ ...null, ...order, paid: true }` is the same
// object in a shape that all of its kind share.
export function withSharedShapes(code) {
  const places = []
  visit(parseAst(code), (node) => {
    if (node.type === 'ObjectExpression' && node.properties.length > 1 && node.properties[0].type === 'SpreadElement')
      places.push(node.properties[0].start)
  })
  let changed = ''
  let from = 0
  for (const place of places.sort((a, b) => a - b)) {
    changed += `${code.slice(from, place)}...null, `
    from = place
  }
  return changed + code.slice(from)
}

function visit(node, see) {
  if (typeof node.type === 'string') see(node)
  for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) visit(value, see)
}
