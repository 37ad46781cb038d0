/** The CPU time and the memory of a peer's whole process tree. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { cpuOf, memoryOf } from '../../bench/process-tree.ts'

t.test('a child that has ended is counted', { skip: process.platform !== 'linux' }, async (t) => {
  const busy =
    'const end = process.cpuUsage().user + 300000; while (process.cpuUsage().user < end) for (let i = 0; i < 1e5; i++);'
  const parent = `require('node:child_process').execFileSync(process.execPath, ['-e', ${JSON.stringify(busy)}])
    console.log('done'); process.stdin.resume()`
  const child = spawn(process.execPath, ['-e', parent], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const pid = child.pid ?? 0
  t.ok(cpuOf([pid]) >= 300_000, 'its 0.3 s are its parent’s')
  t.ok(memoryOf([pid]) > 5 * 1024 * 1024, 'memory is that of running processes')
  const exited = once(child, 'exit')
  child.stdin.end()
  await exited
  t.equal(cpuOf([pid]), 0, 'none is left')
})
