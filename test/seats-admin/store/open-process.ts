/** Opens a store on a signal, and adds a Seat. For tests in which many processes open one store at once. */

import { once } from 'node:events'
import { openStore } from '../../../seats-admin/index.ts'
import { seat } from './conformance.ts'

const [, , location = '', name = ''] = process.argv
process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()
const store = await openStore(JSON.parse(location))
await seat(store, name)
await store.close()
