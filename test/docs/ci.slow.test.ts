/** The examples for pull requests: their commands, in a repository, with `gh` and `curl` that keep what they are given. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { cloneFolder } from './clone.ts'
import { blocksOf } from './pages.ts'

/** As npm installs it. */
const SEATGATE = `#!/bin/sh\nexec node src/cli/seatgate.js "$@"\n`
const LOGGED = '#!/bin/sh\necho "npm $*" >> calls\n'
const KEEP = '#!/bin/sh\necho "$0 $*" >> calls\ncat diff.md >> calls\n'

const examples = blocksOf('docs/access.md')
  .filter(({ language, notRun }) => language === 'yaml' && notRun !== null)
  .map(({ text }) => parse(text))
const [github, gitlab] = examples

const STEPS: Readonly<Record<string, readonly string[]>> = {
  GitHub: github.jobs.access.steps.flatMap(({ run }: { run?: string }) => run ?? []),
  GitLab: gitlab.access.script,
}

const PACKAGE = github.jobs.access.env.SEATGATE

t.test('the package is named with its version, not by a name of a registry', async (t) => {
  t.match(PACKAGE, /^https:\/\/packages\.example\.com\/seatgate-\d+\.\d+\.\d+\.tgz$/)
  t.equal(gitlab.access.variables.SEATGATE, PACKAGE)
  for (const file of readdirSync('docs').filter((name) => name.endsWith('.md')))
    t.notMatch(readFileSync(join('docs', file), 'utf8'), /npx (?:--yes|-y)/, file)
})

/** The exit code of the job, which ends with the first step that fails. */
function run(t: Test, steps: readonly string[], change: (table: string) => string) {
  const folder = cloneFolder(t)
  for (const [name, text] of Object.entries({ seatgate: SEATGATE, npm: LOGGED, gh: KEEP, curl: KEEP }))
    writeFileSync(join(folder, 'bin', name), text, { mode: 0o755 })
  mkdirSync(join(folder, '.git/refs/remotes/origin'), { recursive: true })
  spawnSync('git', ['update-ref', 'refs/remotes/origin/main', 'HEAD'], { cwd: folder })
  const table = join(folder, 'routes/trainings.yaml')
  writeFileSync(table, change(readFileSync(table, 'utf8')))
  const env = {
    ...process.env,
    PATH: [join(folder, 'bin'), process.env['PATH']].join(':'),
    SEATGATE: PACKAGE,
    GITHUB_BASE_REF: 'main',
    CI_MERGE_REQUEST_DIFF_BASE_SHA: 'origin/main',
  }
  for (const step of steps) {
    const command = step.replaceAll(/\$\{\{.*?\}\}/g, '7')
    const { status, stderr } = spawnSync('bash', ['-e', '-c', command], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    if (status !== 0) return { status, step, stderr, calls: callsIn(folder) }
  }
  return { status: 0, step: '', stderr: '', calls: callsIn(folder) }
}

function callsIn(folder: string): string {
  const calls = spawnSync('cat', ['calls'], { cwd: folder, encoding: 'utf8' })
  return calls.stdout
}

t.equal(examples.length, 2)
for (const [name, steps] of Object.entries(STEPS))
  t.test(name, async (t) => {
    t.ok(steps.length >= 4)
    const unchanged = run(t, steps, (table) => table)
    t.equal(unchanged.status, 0, unchanged.stderr)
    t.match(unchanged.calls, 'the tables are equal')
    t.match(unchanged.calls, `npm install --global ${PACKAGE}\n`)
    const moved = run(t, steps, (table) => table.replace('trainings:list', 'trainings:search'))
    t.match(moved.step, 'seatgate test', 'the policy expects trainings:list')
    const open = run(
      t,
      steps.filter((step) => !step.includes('seatgate test')),
      (table) => table.replace('trainings:list', 'public'),
    )
    t.match(open.calls, 'became public')
    t.equal(open.step, '! grep -q became_public diff.md', 'the job fails')
  })

t.test('a change that opens nothing is shown, and the job succeeds', async (t) => {
  const other = run(t, STEPS['GitHub'] ?? [], (table) => table.replace('files:read', 'files:get'))
  t.equal(other.status, 0, other.stderr)
  t.match(other.calls, 'requires another permission')
})
