/** The command line of `npm run release:check`, and what it says of a step. */

import { spawnSync } from 'node:child_process'
import t from 'tap'
import { NotRun, statusOf, step } from './step.ts'
import { STEPS } from './steps.ts'

function check(...args: string[]) {
  return spawnSync(process.execPath, ['test/release/check.ts', ...args], { encoding: 'utf8' })
}

t.test('a step is ok, failed, or not run for a reason', async (t) => {
  t.same(await step('a', () => 'seen'), { name: 'a', result: 'ok', detail: 'seen' })
  const failed = step('a', () => Promise.reject(new Error('no')))
  t.same(await failed, { name: 'a', result: 'failed', detail: 'no' })
  const impossible = step('a', () => {
    throw new NotRun('there is no podman')
  })
  t.same(await impossible, { name: 'a', result: 'not run', detail: 'there is no podman' })
})

t.test('exit codes', async (t) => {
  const of = (...results: ('ok' | 'failed' | 'not run')[]) =>
    [false, true].map((isStrict) =>
      statusOf(
        results.map((result) => ({ name: 'a', result, detail: '' })),
        isStrict,
      ),
    )
  t.same(of('ok', 'ok'), [0, 0])
  t.same(of('ok', 'not run'), [0, 3])
  t.same(of('not run', 'failed', 'ok'), [1, 1])
})

t.test('--list names the steps', async (t) => {
  const { status, stdout } = check('--list')
  t.equal(status, 0)
  const names = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ', 1)[0])
  t.same(names, [...STEPS.keys()])
})

t.test('bad usage', async (t) => {
  for (const [args, reason] of [
    [['--only', 'sbom,nothing'], 'there is no step "nothing"'],
    [['--stric'], "Unknown option '--stric'"],
    [['package'], "Unexpected argument 'package'"],
  ] as const) {
    const { status, stdout, stderr } = check(...args)
    t.match({ status, stdout }, { status: 2, stdout: '' })
    t.ok(stderr.startsWith(`release:check: ${reason}`), stderr)
    t.match(stderr, /^usage: npm run release:check/m)
  }
})

t.test('the steps that read documents alone, as JSON', async (t) => {
  const { status, stdout, stderr } = check('--only', 'changes,promises', '--json', '--strict')
  t.equal(status, 0, stdout + stderr)
  const { subject, steps } = JSON.parse(stdout)
  t.match(subject, /^HEAD [0-9a-f]{40}/)
  t.match(steps, [
    { name: 'changes', result: 'ok', detail: /^version \d/ },
    { name: 'promises', result: 'ok' },
  ])
})
