/** On a Node.js that cannot read TypeScript, `seatgate` starts the project's own runtime. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../support/until.ts'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET } from './command-line.ts'

/** The machine's own Node.js, if it is an older one. */
function findOldNode(): string | null {
  const path = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'))
  for (const folder of path.filter((each) => each !== dirname(process.execPath))) {
    try {
      const version = execFileSync(`${folder}/node`, ['-p', 'process.versions.node'], { encoding: 'utf8' })
      if (Number(version.split('.')[0]) < 24) return `${folder}/node`
    } catch {
      // Not in this folder of PATH.
    }
  }
  return null
}

const node = findOldNode()

/** Where no old Node.js can run it: why. */
const noOldNode = node === null ? 'this machine has no older Node.js' : false

interface Running {
  readonly child: ChildProcess
  out(): string
  /** Its exit code. */
  readonly ended: Promise<number | null>
}

function runByOldNode(t: Test, ...args: string[]): Running {
  if (node === null) throw new Error('no older Node.js')
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES })
  const child = spawn(node, [MAIN, ...args], { cwd, env: { ...process.env, ACME_SECRET: SECRET } })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  return { child, out: () => out, ended: new Promise((resolve) => child.once('close', resolve)) }
}

t.test('exit codes, signals and output pass through', { skip: noOldNode }, async (t) => {
  t.equal(await runByOldNode(t, 'nonsense').ended, 2)
  const start = runByOldNode(t, 'start')
  await until(
    () => start.out().includes('livez'),
    () => `it does not listen: ${start.out()}`,
  )
  start.child.kill('SIGTERM')
  t.equal(await start.ended, 0)
  t.match(start.out(), '"ended"')
})

t.test('the gateway of a killed process ends', { skip: noOldNode }, async (t) => {
  const start = runByOldNode(t, 'start')
  await until(
    () => start.out().includes('livez'),
    () => `it does not listen: ${start.out()}`,
  )
  start.child.kill('SIGKILL')
  await start.ended
  t.match(start.out(), '"ended"')
})
