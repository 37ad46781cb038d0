/**
 * Seatgate as an operator starts it, with its log in a file; and with routing and authorization switched off,
 * and also without log and metrics. The latter two are programs of the bench, not settings.
 */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { peerCores } from '../cores.ts'
import type { Ending } from '../harness.ts'
import { Program } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import { type ConfiguredPart, writeConfiguration } from '../world.ts'
import { runningOf } from './node-program.ts'
import type { Peer, Setup } from './peer.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const START = join(root, 'src', 'cli', 'seatgate.js')

const GATEWAY = [START, 'start', '--config']

/** What differs from the gateway as an operator starts it. */
interface Launch {
  /** The program and its first arguments, before the configuration. */
  readonly script?: readonly string[]
  /** The beginning of a command that runs Node.js. */
  readonly runner?: readonly string[]
  /** The port of the decision listener. */
  readonly decision?: number
  readonly part?: ConfiguredPart
}

/** Seatgate as a peer. */
function peerWith(name: string, label: string, how: Launch = {}, authorises = true): Peer {
  return {
    name,
    label,
    authorises,
    apiKeys: true,
    available: () => null,
    start: async (setup, ending) => runningOf([await launch(setup, how, ending)]),
  }
}

export const seatgate = peerWith('seatgate', 'Seatgate')

/**
 * Seatgate of another revision.
 *
 * @param folder of its source
 * @param runner the beginning of a command that runs Node.js
 */
export function seatgateOf(folder: string, name: string, runner: readonly string[] = []): Peer {
  const script = [join(folder, 'src', 'cli', 'seatgate.js'), 'start', '--config']
  return peerWith(name, 'Seatgate', { script, runner })
}

/** Seatgate with a part that is off by default. */
export function seatgateWith(name: string, label: string, part: ConfiguredPart): Peer {
  return peerWith(name, label, { part })
}

/**
 * Seatgate by another program of the bench.
 *
 * @param script the program and its first arguments
 */
export function seatgateBy(name: string, script: readonly string[], part: ConfiguredPart = {}): Peer {
  return peerWith(name, 'Seatgate', { script, part })
}

export const seatgateOpen = withoutAuthorization('open', 'routing and authorization off')
export const seatgateBare = withoutAuthorization('bare', 'log and metrics off as well')

function withoutAuthorization(mode: 'open' | 'bare', what: string): Peer {
  const script = [join(root, 'bench', 'servers', 'seatgate-open.ts'), mode]
  return peerWith(`seatgate-${mode}`, `Seatgate, ${what}`, { script }, false)
}

/**
 * Starts Seatgate for other proxies.
 *
 * @param decision the port of its decision listener
 */
export function launchDecisions(setup: Setup, decision: number, ending: Ending): Promise<Program> {
  return launch(setup, { decision }, ending)
}

async function launch(setup: Setup, how: Launch, ending: Ending): Promise<Program> {
  const { script = GATEWAY, runner = [], ...more } = how
  const { world, upstream, folder, routes, workers, tls } = setup
  const port = await reservePort(ending.t)
  const { origin, ca, h2c = false } = upstream
  const options = { upstream: origin, ca, h2c, routes, workers, tls, ...more }
  const file = writeConfiguration(folder, { world, port, ...options })
  const command = [...runner, process.execPath, ...script, file]
  // The decision listener is the last one that opens.
  const opened = more.decision ?? port
  return Program.start(ending, { command, port: opened, cores: peerCores(workers), folder })
}
