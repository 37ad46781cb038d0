/** A gateway that tells a datagram socket of the test what it tells systemd. */

import type { Test } from 'tap'
import type { ConfigurationOptions } from '../support/configuration.ts'
import { GatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'
import { type NotifySocket, openNotifySocket, statesOf } from './notify-socket.ts'

/** @param beat ms */
export async function startNotifying(
  t: Test,
  beat: number,
  options: ConfigurationOptions,
): Promise<{ socket: NotifySocket; gateway: GatewayProcess }> {
  const socket = await openNotifySocket(t)
  const env = { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: `${2 * beat * 1000}` }
  const gateway = await (await GatewayProcess.launch(t, { ...options, env })).listens()
  await until(
    () => statesOf(socket).length >= 2,
    () => `not ready: ${gateway.log}`,
  )
  return { socket, gateway }
}
