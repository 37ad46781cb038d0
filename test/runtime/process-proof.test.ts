import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { hasEnded, ownProcess } from '../../src/runtime/process-proof.ts'

const isLinux = process.platform === 'linux' ? {} : { skip: 'needs /proc' }

/** Says who it is, and stays. */
const PROGRAM = `import { ownProcess } from ${JSON.stringify(new URL('../../src/runtime/process-proof.ts', import.meta.url).href)}
console.log(ownProcess())
setInterval(() => {}, 60_000)`

async function started(): Promise<{ readonly child: ChildProcess; readonly text: string }> {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout ?? child, 'data')
  return { child, text: String(line).trim() }
}

t.test('a process has ended once it was killed, and not while it is frozen', isLinux, async (t) => {
  const { child, text } = await started()
  t.teardown(() => child.kill('SIGKILL'))
  t.equal(hasEnded(text), false)
  child.kill('SIGSTOP')
  t.equal(hasEnded(text), false, 'frozen')
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  t.equal(hasEnded(text), true)
})

t.test('a process whose parent does not ask how it ended', isLinux, async (t) => {
  // The shell runs on and waits for nothing.
  const shell = spawn('bash', ['-c', `sleep 60 & echo $!; exec sleep 60`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => shell.kill('SIGKILL'))
  const [line] = await once(shell.stdout, 'data')
  const pid = Number(String(line))
  const [machine, namespace] = (ownProcess() ?? '').split(' ')
  const began = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21]
  const text = `${machine} ${namespace} ${pid} ${began}`
  t.equal(hasEnded(text), false)
  process.kill(pid, 'SIGKILL')
  while (!hasEnded(text)) await sleep(10)
  t.pass('it is a zombie')
})

t.test('what proves nothing', isLinux, async (t) => {
  const own = ownProcess() ?? ''
  const [machine, namespace, pid, began] = own.split(' ')
  t.match(own, /^[0-9a-f-]{36} pid:\[\d+\] \d+ \d+$/)
  t.equal(hasEnded(own), false)
  t.equal(hasEnded(`${machine} ${namespace} ${pid} ${Number(began) - 1}`), true, 'the id was used again')
  for (const text of [
    null,
    '',
    `${machine} ${namespace}`,
    `${machine} ${namespace} 0 1`,
    `${machine} ${namespace} -1 1`,
    `${machine} ${namespace} x 1`,
    `${machine} pid:[1] 4194303 1`,
    `00000000-0000-0000-0000-000000000000 ${namespace} 4194303 1`,
  ])
    t.equal(hasEnded(text), false, String(text))
})
