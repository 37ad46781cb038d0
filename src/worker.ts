/** The program of a worker. */

import { extensions } from './composition.ts'
import { runWorker } from './runtime/workers/run-worker.ts'

runWorker(extensions)
