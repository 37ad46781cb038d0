/** A socket as systemd has one for a service of `Type=notify`, and what was sent to it. */

import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import type { ConfigurationOptions } from '../support/configuration.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { until } from '../support/until.ts'

const BEAT = 'WATCHDOG=1'
const MARK = 'X_MARK=1'
const SCRIPT = fileURLToPath(new URL('notify-socket.py', import.meta.url))

export type NotifySocket = Awaited<ReturnType<typeof openNotifySocket>>

async function openNotifySocket(t: Test) {
  const path = join(serverFolder(t, 'notify'), 'notify')
  const receiver = spawn('python3', [SCRIPT, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => receiver.kill())
  /** The lines of each message, in the order of their arrival, without the barriers of systemd-notify. */
  const messages: string[][] = []
  let bound = false
  let [marks, seen] = [0, 0]
  createInterface({ input: receiver.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as string[]
    if (message[0] === 'bound') bound = true
    else if (message[0] === MARK) seen++
    else if (message[0] !== 'BARRIER=1') messages.push(message)
  })
  await until(
    () => bound,
    () => `nothing listens at ${path}`,
  )
  /** Resolves once all that was sent before has come: a message of the test has come after it. */
  const mark = async () => {
    marks++
    await promisify(execFile)('systemd-notify', [MARK], { env: { ...process.env, NOTIFY_SOCKET: path } })
    await until(
      () => seen === marks,
      () => 'the mark has not come',
    )
  }
  /** The messages about states. */
  const states = () => messages.filter(([first]) => first !== BEAT)
  const beats = () => messages.length - states().length
  return { path, states, beats, mark }
}

/** A gateway that tells the socket what it tells systemd. @param beat ms */
export async function startNotifying(
  t: Test,
  beat: number,
  options: ConfigurationOptions,
): Promise<{ socket: NotifySocket; gateway: GatewayProcess }> {
  const socket = await openNotifySocket(t)
  const env = { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: `${2 * beat * 1000}` }
  const gateway = await startGatewayProcess(t, { ...options, env })
  await until(
    () => socket.states().length >= 2,
    () => `not ready: ${gateway.log}`,
  )
  return { socket, gateway }
}
