// The job of this page that the address names, with what came of it.
import { Job } from '../../parts/Job'
import { JobReport } from '../jobs/JobReport'

export function OutboxJob() {
  return <Job report={JobReport} />
}
