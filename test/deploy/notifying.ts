/** A gateway that tells a datagram socket of the test what it tells systemd. */

import type { Test } from 'tap'
import { CONFIG, folderWith, ROUTES } from '../cli/command-line.ts'
import { until } from '../support/servers/wait.ts'
import { type NotifySocket, openNotifySocket, statesOf } from './notify-socket.ts'
import { type Started, startGateway } from './gateway.ts'

export interface Notifying {
  readonly socket: NotifySocket
  readonly gateway: Started
  readonly folder: string
}

/** @param beat ms */
export async function startNotifying(t: Test, beat: number, config = CONFIG): Promise<Notifying> {
  const socket = await openNotifySocket(t)
  const folder = folderWith(t, { 'gateway.config.yaml': config, 'routes/main.yaml': ROUTES })
  const gateway = startGateway(t, folder, { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: `${2 * beat * 1000}` })
  await until(
    () => statesOf(socket).length >= 2 && gateway.origin('front door') !== '',
    () => `not ready: ${gateway.log()}`,
  )
  return { socket, gateway, folder }
}
