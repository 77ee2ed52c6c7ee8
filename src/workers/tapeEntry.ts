// The entry of the thread that holds tapes and keyframes for those who scrub through logs. Where there is too little processor
// time for all, those who ingest go first.
import { setPriority } from 'node:os'
import { Piscina } from 'piscina'
import { openTapes, type TapeSetup } from '../services/replay/inThread/tapeTasks.js'
import { answerWith } from './residentAnswer.js'

const NICE = 10

// On Linux, and only there, 0 is the calling thread and not the whole process.
if (process.platform === 'linux') {
  try {
    setPriority(0, NICE)
  } catch {
    // A sandbox may forbid it: then it is a thread like any other.
  }
}

export default answerWith(Promise.resolve(openTapes(Piscina.workerData as TapeSetup)))
