/**
 * Seatgate as an operator starts it, with its log in a file; and with routing and authorization switched off, and
 * also without log and metrics. The latter two are programs of the bench, not settings.
 */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { peerCores } from '../cores.ts'
import { freePort, Program } from '../program.ts'
import { type ConfiguredPart, writeConfiguration } from '../world.ts'
import { runningOf } from './node-program.ts'
import type { Peer, RunningPeer, Setup } from './peer.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const START = join(root, 'src', 'cli', 'seatgate.js')

/**
 * @param folder of the source: another one where revisions are compared
 * @param runner the beginning of a command that runs Node.js
 */
export function seatgateOf(folder: string, name = 'seatgate', runner: readonly string[] = []): Peer {
  return {
    name,
    label: 'Seatgate',
    authorises: true,
    apiKeys: true,
    available: () => null,
    start: (setup) => start(setup, [join(folder, 'src', 'cli', 'seatgate.js'), 'start', '--config'], runner),
  }
}

export const seatgate = seatgateOf(root)

/** With a part that is off by default. */
export function seatgateWith(name: string, label: string, part: ConfiguredPart): Peer {
  const script = [START, 'start', '--config']
  const startWith = async (setup: Setup) => runningOf([await launch(setup, script, { part })])
  return { ...seatgate, name, label, start: startWith }
}

export const seatgateOpen = withoutAuthorization('open', 'routing and authorization off')
export const seatgateBare = withoutAuthorization('bare', 'log and metrics off as well')

function withoutAuthorization(mode: 'open' | 'bare', what: string): Peer {
  return {
    name: `seatgate-${mode}`,
    label: `Seatgate, ${what}`,
    authorises: false,
    apiKeys: true,
    available: () => null,
    start: (setup) => start(setup, [join(root, 'bench', 'servers', 'seatgate-open.ts'), mode]),
  }
}

async function start(
  setup: Setup,
  script: readonly string[],
  runner: readonly string[] = [],
): Promise<RunningPeer> {
  return runningOf([await launch(setup, script, { runner })])
}

/** Seatgate for other proxies. @param decision the port of its decision listener */
export function launchDecisions(setup: Setup, decision: number): Promise<Program> {
  return launch(setup, [START, 'start', '--config'], { decision })
}

async function launch(
  setup: Setup,
  script: readonly string[],
  {
    runner = [],
    ...more
  }: { readonly decision?: number; readonly part?: ConfiguredPart; readonly runner?: readonly string[] } = {},
): Promise<Program> {
  const { world, upstream, folder, routes, workers, tls } = setup
  const port = await freePort()
  const { origin, ca, h2c = false } = upstream
  const options = { upstream: origin, ca, h2c, routes, workers, tls, ...more }
  const file = writeConfiguration(folder, { world, port, ...options })
  const command = [...runner, process.execPath, ...script, file]
  // The decision listener is the last one that opens.
  const opened = more.decision ?? port
  return Program.start({ command, port: opened, cores: peerCores(workers), folder })
}
