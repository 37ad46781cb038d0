/** The runner of the tests: what counts as a failure, and what it prints. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { serverFolder } from '../support/servers/folder.ts'

const RUN = fileURLToPath(new URL('./run.ts', import.meta.url))

/** Runs files of these texts, beside the packages of the project. */
async function run(t: Test, files: Readonly<Record<string, string>>, ...options: string[]) {
  const folder = serverFolder(t, 'run')
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const child = spawn(process.execPath, [RUN, ...options, `${folder}/*.test.ts`])
  const output = text(child.stdout)
  const errors = text(child.stderr)
  const [code] = (await once(child, 'close')) as [number]
  return { code, folder, output: await output, errors: await errors }
}

const PASSES = `import t from 'tap'\nt.test('fine', async (t) => { t.pass('one'); t.pass('two') })\n`

t.test('files that pass', async (t) => {
  const skips = `import t from 'tap'
t.test('not here', { skip: 'no server' }, async () => {})
t.test('half', async (t) => { t.pass({ skip: 'no disk' }) })
`
  const { code, output } = await run(t, { 'a.test.ts': PASSES, 'b.test.ts': skips })
  t.equal(code, 0)
  t.match(
    output,
    /^skipped:\n {2}\S+\/b\.test\.ts: not here: no server\n {2}\S+\/b\.test\.ts: half: no disk$/m,
  )
  t.match(output, /^assertions: 2 passed, 0 failed, 2 skipped$/m)
  t.match(output, /^files: 2 passed, 0 failed$/m)
  t.match(output, /^slowest:\n +\d+\.\d s \S+\.test\.ts$/m)
  t.notMatch(output, 'FAILED')
})

t.test('slow files run with --slow alone', async (t) => {
  const files = { 'a.test.ts': PASSES, 'b.slow.test.ts': PASSES }
  t.match((await run(t, files)).output, /^files: 1 passed, 0 failed$/m)
  t.match((await run(t, files, '--slow')).output, /^files: 2 passed, 0 failed$/m)
})

t.test('every way to fail is a failure, and stands last', async (t) => {
  const files: Record<string, [content: string, said: RegExp]> = {
    'assertion.test.ts': [
      `import t from 'tap'\nt.test('outer', async (t) => { t.equal(1, 2, 'one is two') })\n`,
      /assertion\.test\.ts:2:\d+ outer > one is two\n {2}--- expected\n/,
    ],
    'exception.test.ts': [
      `import t from 'tap'\nt.pass('one')\nthrow new Error('unexpected')\n`,
      /unexpected/,
    ],
    'rejection.test.ts': [
      `import t from 'tap'\nt.test('rejects', async () => { throw new Error('rejected') })\n`,
      /rejects > rejected/,
    ],
    'plan.test.ts': [`import t from 'tap'\nt.plan(2)\nt.pass('one')\n`, /test unfinished|plan/],
    'code.test.ts': [
      `import t from 'tap'\nt.pass('one')\nprocess.on('exit', () => { process.exitCode = 3 })\n`,
      /exit code 3/,
    ],
    'signal.test.ts': [
      `process.kill(process.pid, 'SIGKILL')\nsetInterval(() => {}, 1000)\n`,
      /ended by SIGKILL/,
    ],
    'nothing.test.ts': [`console.error('said on standard error')\n`, /no test[\s\S]*said on standard error/],
    'syntax.test.ts': [`import t from 'tap'\nt.pass(\n`, /SyntaxError/],
  }
  const contents = Object.fromEntries(Object.entries(files).map(([name, [content]]) => [name, content]))
  const { code, output, folder } = await run(t, { ...contents, 'passes.test.ts': PASSES })
  t.equal(code, 1)
  const [before = '', ...last] = output.split(/^in (?=\S+:$)/m)
  t.match(before, /^files: 1 passed, 8 failed$/m)
  for (const [name, [, said]] of Object.entries(files)) {
    const file = `${folder}/${name}`
    t.match(before, `FAILED ${file}\n`, 'said when it fails')
    t.match(last.find((each) => each.startsWith(`${file}:\n`)) ?? '', said, name)
  }
})

t.test('options', async (t) => {
  t.match(await run(t, {}), { code: 2, errors: /no test file/ })
  t.match(await run(t, { 'a.test.ts': PASSES }, '--jobs', 'many'), { code: 2, errors: /--jobs/ })
})
