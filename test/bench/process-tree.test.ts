/** The CPU of a peer's whole process tree, with any process names. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { cpuOf, descendants, memoryOf, parseStat } from '../../bench/process-tree.ts'

const stat = (pid: number, name: string, parent: number, times: string) =>
  `${pid} (${name}) S ${parent} 1 1 0 -1 4194304 1 2 3 4 ${times} 20 0 1 0 99 100 200`

t.test('a line of /proc/PID/stat', async (t) => {
  t.same(parseStat(stat(7, 'nginx', 3, '10 20 300 4000')), { pid: 7, parent: 3, ticks: 4330 })
  const odd = stat(8, 'a) S 99 (b', 3, '1 2 3 4')
  t.same(parseStat(odd), { pid: 8, parent: 3, ticks: 10 }, 'a name with brackets and spaces')
})

t.test('descendants, in any order', async (t) => {
  const parents = [
    [5, 4],
    [4, 2],
    [2, 1],
    [3, 1],
    [6, 3],
    [9, 0],
  ] as const
  const all = parents.map(([pid, parent]) => ({ pid, parent, ticks: 1 }))
  const pids = (roots: number[]) => descendants(all, roots).map(({ pid }) => pid)
  t.same(pids([2]).toSorted(), [2, 4, 5])
  t.same(pids([4, 3]).toSorted(), [3, 4, 5, 6])
  t.same(pids([10]), [])
})

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
