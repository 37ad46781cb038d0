/** A peer that is a program of `../servers/`, run by the bench's own Node.js. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { peerCores } from '../cores.ts'
import type { Ending } from '../harness.ts'
import { Program } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import { PERMISSION, SEATS, SPACE, seatName, TENANT } from '../names.ts'
import type { Peer, RunningPeer, Setup } from './peer.ts'

/** The configuration of such a program, as JSON in the file that is its one argument. */
export interface ServerSetup {
  readonly port: number
  /** Origin. */
  readonly upstream: string
  /** File of the authority that issued the upstream's certificate; null: no TLS. */
  readonly ca: string | null
  readonly log: string
  /** Null: it checks no token. */
  readonly rules: Rules | null
}

/**
 * The requirements for a request: a token of the tenant, with a Seat that holds the permission in the space.
 */
export interface Rules {
  readonly secret: string
  readonly tenant: string
  readonly space: string
  readonly permission: string
  /** The permissions of each Seat, by its name. */
  readonly permissions: Readonly<Record<string, readonly string[]>>
}

/** Starts a peer that is one of these programs. */
export function nodeProgram(script: string, authorises: boolean): Peer['start'] {
  return async (setup, ending) => runningOf([await launchServer(script, setup, authorises, ending)])
}

export async function launchServer(
  script: string,
  setup: Setup,
  authorises: boolean,
  ending: Ending,
): Promise<Program> {
  const { world, upstream, folder } = setup
  const port = await reservePort(ending.t)
  const file = join(folder, `setup-${port}.json`)
  const configuration: ServerSetup = {
    port,
    upstream: upstream.origin,
    ca: upstream.ca,
    log: join(folder, `access-${port}.log`),
    rules: authorises ? rulesOf(world.secret) : null,
  }
  writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 })
  const path = fileURLToPath(new URL(`../servers/${script}.ts`, import.meta.url))
  return Program.start(ending, {
    command: [process.execPath, path, file],
    port,
    cores: peerCores(setup.workers),
    folder,
    env: { NODE_ENV: 'production' },
  })
}

function rulesOf(secret: string): Rules {
  const names = Array.from({ length: SEATS }, (_, i) => seatName(i))
  const permissions = Object.fromEntries(names.map((name) => [name, [PERMISSION, 'trainings:read']]))
  return { secret, tenant: TENANT, space: SPACE, permission: PERMISSION, permissions }
}

/** A peer of these programs. The last one accepts the clients' connections. */
export function runningOf(programs: readonly Program[]): RunningPeer {
  return {
    port: programs.at(-1)?.port ?? 0,
    pids: programs.map(({ pid }) => pid),
    startedIn: programs.reduce((sum, { startedIn }) => sum + startedIn, 0),
  }
}
