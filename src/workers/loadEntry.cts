// Every thread begins here and imports its entry, which its first argument names. Left to itself piscina would `require`
// the entry, and a thread that is stopped while Node 20 requires an ES module takes the whole process down with it.
import url = require('node:url')

export = import(url.pathToFileURL(process.argv[2]!).href).then(({ default: entry }) => entry)
