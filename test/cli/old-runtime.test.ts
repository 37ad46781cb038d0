/** On a Node.js that cannot read TypeScript, `seatgate` starts the project's own runtime. */

import { execFileSync, spawn } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import t from 'tap'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET } from './command-line.ts'

/** The machine's own Node.js, if it is an older one. */
function oldNode(): string | null {
  const path = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'))
  for (const folder of path.filter((each) => each !== dirname(process.execPath))) {
    try {
      const version = execFileSync(`${folder}/node`, ['-p', 'process.versions.node'], { encoding: 'utf8' })
      if (Number(version.split('.')[0]) < 26) return `${folder}/node`
    } catch {
      // Not in this folder of PATH.
    }
  }
  return null
}

t.test('exit codes, signals and output pass through', async (t) => {
  const node = oldNode()
  if (node === null) return void t.pass('skipped: this machine has no older Node.js')
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES })
  const run = (...args: string[]) => {
    const child = spawn(node, [MAIN, ...args], { cwd, env: { ...process.env, ACME_SECRET: SECRET } })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    return { child, out: () => out, ended: new Promise((resolve) => child.once('close', resolve)) }
  }
  const check = run('check')
  t.equal(await check.ended, 0)
  t.match(check.out(), /no faults/)
  t.equal(await run('nonsense').ended, 2)
  const start = run('start')
  t.teardown(() => start.child.kill('SIGKILL'))
  await new Promise<void>((resolve) =>
    start.child.stdout.on('data', () => start.out().includes('livez') && resolve()),
  )
  start.child.kill('SIGTERM')
  t.equal(await start.ended, 0)
  t.match(start.out(), '"ended"')
})
