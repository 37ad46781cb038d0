/** Holds the write lock of the store until told to release it. Run by tests. */

import { DatabaseSync } from 'node:sqlite'

const [, , path = ''] = process.argv
const database = new DatabaseSync(path)
database.exec('BEGIN IMMEDIATE')
process.stdout.write('locked\n')
process.stdin.once('end', () => {
  database.exec('ROLLBACK')
  database.close()
})
process.stdin.resume()
