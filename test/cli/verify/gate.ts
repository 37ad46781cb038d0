/** A gateway in a process of its own, and `seatgate verify` against it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Client } from '../../support/client.ts'
import { writeConfiguration } from '../../support/configuration.ts'
import { bundled } from '../../support/bundled.ts'
import { GatewayProcess } from '../../support/gateway-process.ts'
import { serverFolder } from '../../support/servers/folder.ts'
import { reservePort } from '../../support/servers/ports.ts'
import { until } from '../../support/until.ts'
import { MAIN, outcomeOf, type Ran, seatgate, SECRET } from '../command-line.ts'

export const SPACE = 'main'

export interface Gate {
  readonly gateway: GatewayProcess
  readonly folder: string
  readonly key: string
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; json: any }> // oxlint-disable-line typescript/no-explicit-any
  /** Names of Seats and of keys in force, in order. */
  names(): Promise<string[]>
  start(...args: string[]): ChildProcess
  run(...args: string[]): Promise<Ran>
}

export async function startGate(t: Test): Promise<Gate> {
  const folder = serverFolder(t, 'verified')
  const port = await reservePort(t)
  writeConfiguration(folder, {
    listen: `127.0.0.1:${port}`,
    top: [`advertise: http://localhost:${port}`],
  })
  const bootstrapped = await seatgate(folder, ['bootstrap', '--tenant', 'acme', '--out', 'admin.key'], {
    GLOBEX_SECRET: `${SECRET}, of globex`,
  })
  if (bootstrapped.code !== 0) throw new Error(bootstrapped.err)
  const gateway = await (await GatewayProcess.launch(t, { folder })).listens()
  const key = readFileSync(join(folder, 'admin.key'), 'utf8').trim()
  const admin: Gate['admin'] = async (method, path, body) => {
    const client = new Client(gateway.port)
    const headers = { 'x-api-key': key, space: 'admin', 'content-type': 'application/json' }
    try {
      return await client.send(method, path, headers, body === undefined ? undefined : JSON.stringify(body))
    } finally {
      client.close()
    }
  }
  const start: Gate['start'] = (...args) => {
    const env = { ...process.env, ...bundled(), SEATGATE_URL: gateway.origin, SEATGATE_API_KEY: key }
    const child = spawn(process.execPath, [MAIN, 'verify', '--space', SPACE, ...args], { cwd: folder, env })
    t.teardown(() => child.kill('SIGKILL'))
    return child
  }
  /** A busy machine may miss a timeout of the store: 503. */
  const listed = (path: string): Promise<{ name: string; revoked_at?: string }[]> =>
    until(async () => {
      const { status, json } = await admin('GET', path)
      return status === 200 && json.data
    }, path)
  const names: Gate['names'] = async () => {
    const all = [...(await listed('/v1/seats?limit=100')), ...(await listed('/v1/api-keys?limit=100'))]
    return all.flatMap(({ name, revoked_at: revoked }) => (revoked === undefined ? [name] : [])).toSorted()
  }
  return { gateway, folder, key, admin, names, start, run: (...args) => outcomeOf(start(...args)) }
}
