/** Opens the file of a store as another program does, runs a script, and closes the file when it is told to. Run by tests. */

import { DatabaseSync } from 'node:sqlite'

const [, , path = '', script = ''] = process.argv
const database = new DatabaseSync(path)
database.exec(script)
process.stdout.write('open\n')
process.stdin.once('end', () => database.close())
process.stdin.resume()
