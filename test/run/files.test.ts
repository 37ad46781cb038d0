/** A rule for all files of tests. */

import { globSync, readFileSync } from 'node:fs'
import t from 'tap'

/**
 * tap ends a file when none of its tests runs. A file that waits for anything else loses its folders and
 * servers if the tests that have begun end first.
 */
t.test('after its first test, a file waits for tests alone', async (t) => {
  const files = globSync('test/**/*.test.ts')
  t.ok(files.length > 500, `${files.length} files`)
  for (const file of files) {
    const lines = readFileSync(file, 'utf8').split('\n')
    const first = lines.findIndex((line) => /^(?:await )?t\.test\(/.test(line))
    const waits = lines.findIndex((line, at) => at > first && /^(?:\S.*= )?await (?!t\.test\()/.test(line))
    if (first !== -1) t.equal(waits, -1, `${file}:${waits + 1}`)
  }
})
