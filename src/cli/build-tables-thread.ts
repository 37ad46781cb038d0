/** A thread that builds tables of the store, and ends. `table-builder.ts` starts it. */

import { parentPort, workerData } from 'node:worker_threads'
import { unpack } from '../config/worker-copy.ts'
import { buildTables, ENTRIES_A_MESSAGE, type TablesInput, type ThreadMessage } from './build-tables.ts'

const port = parentPort
if (port === null) throw new Error('this file is a thread')

const { input: packed, files } = workerData
const { entries, ...others } = buildTables(unpack(packed) as unknown as TablesInput, files)
let sent = 0
const say = (message: ThreadMessage) => port.postMessage(message)
const next = () => {
  if (sent >= entries.length) return say({ built: others })
  const from = sent
  sent += ENTRIES_A_MESSAGE
  say({ entries: entries.slice(from, sent) })
}
port.on('message', next)
next()
