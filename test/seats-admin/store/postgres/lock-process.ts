/** Prints a line in the middle of a write, with the lock held, and goes on when it is told to. */

import { once } from 'node:events'
import { StoreUnavailable } from '../../../../seats-admin/index.ts'
import { withTimeout } from '../../../../seats-admin/store/postgres/call.ts'
import { sessionOf } from '../../../../seats-admin/store/postgres/connection-pools.ts'
import { Pool } from '../../../../seats-admin/store/postgres/postgres-pool.ts'
import { transact } from '../../../../seats-admin/store/postgres/postgres-transaction.ts'
import { parseUrl } from '../../../../seats-admin/store/postgres/url.ts'

const INSERT = `INSERT INTO seats (tenant, id, name, spaces, permissions, created_by, created_at)
  VALUES ('acme', 'A', 'A', '[]', '[]', 'ann', 0)`

const [, , url = ''] = process.argv
const pool = new Pool(parseUrl(url), sessionOf(2000), 1)
const write = withTimeout(60_000, (call) =>
  transact(pool, call, async (transaction) => {
    process.stdout.write('locked\n')
    await once(process.stdin, 'data')
    return transaction.all(INSERT, {})
  }),
)
const outcome = await write.catch((cause: unknown) => cause)
await pool.close()
process.stdin.destroy()
process.exitCode = outcome instanceof StoreUnavailable ? 0 : 1
