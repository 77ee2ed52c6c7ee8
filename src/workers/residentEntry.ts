// The entry of a thread with live states: opens them once, then answers what is asked of them.
import { Piscina } from 'piscina'
import { openResidents, type ResidentSetup } from '../services/state/inThread/residentTasks.js'
import { answerWith } from './residentAnswer.js'

export default answerWith(openResidents(Piscina.workerData as ResidentSetup))
