/** A test process may be killed, may exit and may fail: none of its servers lives on, and no folder stays. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { onReservedPort, reservePort } from './ports.ts'
import { until } from '../until.ts'

const script = fileURLToPath(new URL('./left-behind-process.ts', import.meta.url))

async function startedBy(how: string): Promise<{ pids: number[]; folders: string[] }> {
  const child = spawn(process.execPath, [script, how], { stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  for await (const bytes of child.stdout) text += bytes
  return JSON.parse(/STARTED (.*)/.exec(text)?.[1] ?? 'null')
}

for (const how of ['kill', 'exit', 'throw'])
  t.test(how, async (t) => {
    const { pids, folders } = await startedBy(how)
    t.equal(pids.length, 2)
    await until(
      () => !pids.some(isAlive) && !folders.some((folder) => existsSync(folder)),
      () => `left behind: ${pids.filter(isAlive)} ${folders.filter((folder) => existsSync(folder))}`,
    )
  })

t.test('a port is given to one at a time', async (t) => {
  const ports = await Promise.all(Array.from({ length: 300 }, () => reservePort(t)))
  t.equal(new Set(ports).size, 300)
})

t.test('a port that a stranger took is left to him', async (t) => {
  const strangers: Server[] = []
  const listen = async (port: number) => {
    const server = createServer()
    await once(server.listen(port, '127.0.0.1'), 'listening')
    t.teardown(() => void server.close())
    return server
  }
  const port = await onReservedPort(t, async (port) => {
    if (strangers.length < 2) strangers.push(await listen(port))
    await listen(port)
    return port
  })
  t.equal(strangers.length, 2)
  t.notOk(strangers.some((server) => (server.address() as AddressInfo).port === port))
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
