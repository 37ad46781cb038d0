/** Opens a store as soon as it is told to, and adds a Seat. Run by `migrations.test.ts`. */

import { once } from 'node:events'
import { openSqliteStore } from '../../../../seats-admin/index.ts'
import { done, writer } from '../conformance.ts'

const [, , path = '', name = ''] = process.argv
process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()
const store = await openSqliteStore({ path })
done(await store.createSeat(writer(), { name, spaces: [], permissions: [] }))
await store.close()
