/** Tries to take the store's lock, prints the result, and holds the lock until told to release it. */

import { once } from 'node:events'
import { lockStore } from '../../../../seats-admin/index.ts'

const [, , path = '', start = ''] = process.argv
if (start === 'wait') {
  process.stdout.write('ready\n')
  await once(process.stdin, 'data')
}
const lock = lockStore(path)
process.stdout.write(lock === null ? 'refused\n' : 'locked\n')
process.stdin.once('end', () => {
  lock?.release()
  process.stdout.write('released\n')
})
process.stdin.resume()
