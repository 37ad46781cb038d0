/** Three instances, one of them with two workers, whose files a test replaces as a deployment does. */

import { renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { type Ran } from '../cli/command-line.ts'
import { seatgateHere } from '../cli/in-process.ts'
import { RawClient } from '../support/raw-client.ts'
import { type Fleet, startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

/** For what comes in the end, on a machine of any speed. */
export const LONG = '120s'

export interface Rolling {
  readonly fleet: Fleet
  readonly gateways: readonly [FleetGateway, FleetGateway, FleetGateway]
  /** Runs a command with the configuration of the first gateway. */
  run(args: readonly string[]): Promise<Ran>
  /** The options of a command that asks a gateway. */
  remote(gateway: FleetGateway): string[]
  /** The hash of the tables of a gateway's files. */
  hashOf(gateway: FleetGateway): Promise<string>
}

export async function startRolling(t: Test): Promise<Rolling> {
  const fleet = await startFleet(t, {
    workers: (name) => (name === 'b' ? 2 : 1),
    redis: 'none',
    proxies: [],
  })
  const run = (args: readonly string[]) => seatgateHere(dirname(fleet.first.file), args, fleet.env)
  return {
    fleet,
    gateways: [fleet.at(0), fleet.at(1), fleet.at(2)],
    run,
    remote: ({ port }) => ['--url', `http://127.0.0.1:${port}`, '--api-key', fleet.key],
    async hashOf({ file }) {
      const { code, out, err } = await run(['check', '--hash', '--config', file])
      if (code !== 0) throw new Error(err)
      return out.trim()
    },
  }
}

/** Replaces a file at once. */
export function replace({ file }: FleetGateway, name: string, text: string): void {
  const path = join(dirname(file), name)
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

export function tableOf(requirement: string): string {
  return `upstream: main\nroutes:\n  GET /v1/trainings: trainings:list\n  GET /gate: ${requirement}\n`
}

export function get(path: string, more = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`
}

/** Requests on connections of their own. The kernel accepts them for a frozen gateway. */
export function sendEach({ port }: FleetGateway, request: string, count: number): RawClient[] {
  return Array.from({ length: count }, () => new RawClient(port).send(request))
}

/** Each request gets this status, or cannot be decided: the store may answer too slowly on a busy machine. */
export async function areAnswered(
  t: Test,
  status: number,
  clients: readonly RawClient[],
  of: string,
): Promise<void> {
  for (const client of clients) {
    const { all } = await client.responses(1)
    client.close()
    if (all[0]?.status !== 503) t.equal(all[0]?.status, status, of)
  }
}

/** Each of these instances, and each of its workers, answers so. */
export async function allAnswer(
  t: Test,
  status: number,
  request: string,
  gateways: readonly FleetGateway[],
): Promise<void> {
  for (const gateway of gateways)
    await areAnswered(t, status, sendEach(gateway, request, 8), `of ${gateway.name}`)
}
