/** The comparison of messages itself, and that each file of messages belongs to a test file. */

import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { env } from 'node:process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

const HEAD = '# x.test.ts causes these messages. SEATGATE_WRITE_MESSAGES=1 writes the file anew.\n\n'
const ENTRY = 'is wrong\n  "a"\n'
const SUPPORT = pathToFileURL('test/config/messages.ts').href
const FILE = `import t from 'tap'
import { record } from '${SUPPORT}'
t.test('a fault', async () => record('is wrong', { place: '', text: 'a' }))
`

// Each test waits for a process.
t.jobs = 3

/** Runs a test file with one message beside a file of messages. */
async function run(t: Test, messages: string, more: NodeJS.ProcessEnv = {}) {
  const folder = t.testdir({ 'x.test.ts': FILE, messages: { 'x.txt': messages } })
  const options = { env: { ...env, SEATGATE_WRITE_MESSAGES: '', ...more } }
  const failed = await promisify(execFile)(process.execPath, [join(folder, 'x.test.ts')], options).then(
    () => null,
    (error: { stderr: string }) => error.stderr,
  )
  return { failed, text: readFileSync(join(folder, 'messages', 'x.txt'), 'utf8') }
}

t.test('equal messages pass', async (t) => {
  t.equal((await run(t, HEAD + ENTRY)).failed, null)
})

t.test('a missing message fails, and so does one that no test causes', async (t) => {
  const { failed, text } = await run(t, `${HEAD}is false\n  "a"\n`)
  t.match(failed, '- is false\n+ is wrong\n')
  t.match(text, 'is false', 'not written')
})

t.test('the variable writes them', async (t) => {
  const { failed, text } = await run(t, '', { SEATGATE_WRITE_MESSAGES: '1' })
  t.equal(failed, null)
  t.equal(text, HEAD + ENTRY)
})

t.test('each file of messages has its test file', async (t) => {
  const tests = new Set(globSync('test/config/*.test.ts').map((file) => basename(file, '.test.ts')))
  const files = globSync('test/config/messages/*').map((file) => basename(file, '.txt'))
  t.ok(files.length > 0)
  t.same(
    files.filter((name) => !tests.has(name)),
    [],
  )
})
