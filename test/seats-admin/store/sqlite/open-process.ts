/** Opens and reads the store as another program does, and closes it when told to. Run by tests. */

import { DatabaseSync } from 'node:sqlite'

const [, , path = ''] = process.argv
const database = new DatabaseSync(path)
database.prepare('SELECT count(*) FROM seats').get()
process.stdout.write('open\n')
process.stdin.once('end', () => database.close())
process.stdin.resume()
