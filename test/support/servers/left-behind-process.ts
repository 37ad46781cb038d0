/**
 * A test process that ends badly, for left-behind.slow.test.ts: starts servers, prints their ids, and ends as
 * its argument says.
 */

import t from 'tap'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'

const [redis, postgres] = [await startRedis(t), await startPostgres(t)]
const [row] = await postgres.query('SHOW data_directory')
const [folder] = ((await redis.command('CONFIG', 'GET', 'dir')) as string[]).slice(1)
await postgres.freeze()
const said = { pids: [redis.pid, postgres.pid], folders: [folder, row?.['data_directory']] }
console.log(`STARTED ${JSON.stringify(said)}`)
if (process.argv[2] === 'exit') process.exit(3)
if (process.argv[2] === 'throw')
  setImmediate(() => {
    throw new Error('as asked')
  })
else process.kill(process.pid, 'SIGKILL')
