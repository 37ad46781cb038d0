/**
 * The newest version takes the store and the configuration of each release, on both drivers: the gateway starts on them, decides
 * as that release did, writes, and the audit is whole. `npm run release:check` runs this with the installed package.
 */

import { execFile } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { startTrainingsService } from '../demo/trainings-service.ts'
import { GatewayProcess, MAIN, SECRET } from '../support/gateway-process.ts'
import { served } from '../support/served.ts'
import { serverFolder } from '../support/servers/folder.ts'
import {
  CONFIGURATION,
  DRIVERS,
  type Facts,
  factsOf,
  fileOf,
  keep,
  keptVersions,
  UPGRADES,
} from './kept-release.ts'

const { SEATGATE_INSTALLED: installed, SEATGATE_WRITE_RELEASE: written } = process.env
const program = installed === undefined ? MAIN : join(installed, 'seatgate/src/cli/seatgate.js')
const trainings = await startTrainingsService()
t.teardown(() => trainings.close())

/** The program on a store, with the configuration of a folder. */
class Setting {
  readonly folder: string
  readonly #env: Readonly<Record<string, string>>

  constructor(folder: string, store: string) {
    this.folder = folder
    this.#env = {
      ...{ SEATGATE_LISTEN: '127.0.0.1:0', SEATGATE_OPS: '127.0.0.1:0', SEATGATE_STORE: store },
      ...{ ACME_TOKEN_SECRET: SECRET, TRAININGS_URL: trainings.url },
    }
  }

  /** Runs a command to its end. Rejects unless the status is 0. */
  async run(...args: string[]): Promise<string> {
    const env = { PATH: process.env['PATH'], ...this.#env }
    const options = { cwd: this.folder, env } as const
    return (await promisify(execFile)(process.execPath, [program, ...args], options)).stdout.trim()
  }

  async start(t: Test): Promise<GatewayProcess> {
    const options = { folder: this.folder, env: this.#env, program: [program] }
    return (await GatewayProcess.launch(t, options)).listens()
  }

  async tokenOf(sub: string): Promise<Record<string, string>> {
    const token = await this.run('token', '--tenant', 'acme', '--sub', sub, '--seat', 'Viewer')
    return { Authorization: `Bearer ${token}`, Space: 'main' }
  }
}

function asking({ origin }: GatewayProcess) {
  return async (method: string, path: string, headers: Record<string, string>, body?: object) => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const all = { 'Content-Type': 'application/json', ...headers }
    const answer = await served(() => fetch(origin + path, { method, headers: all, ...text }))
    const content = await answer.text()
    return { status: answer.status, json: content === '' ? null : JSON.parse(content) }
  }
}

/** What a tenant has after a while. */
async function live(t: Test, setting: Setting): Promise<Facts> {
  const { key } = JSON.parse(await setting.run('bootstrap', '--tenant', 'acme', '--json'))
  const gateway = await setting.start(t)
  const ask = asking(gateway)
  const admin = { 'x-api-key': key, Space: 'admin' }
  const made = async (path: string, body: object) => {
    const { status, json } = await ask('POST', path, admin, body)
    t.equal(status, 200, JSON.stringify(json))
    return json
  }
  const seat = (name: string, permissions: string[]) =>
    made('/v1/seats', { name, spaces: ['main'], permissions })
  await seat('Viewer', ['trainings:list'])
  const { id } = await seat('Editor', ['trainings:create'])
  const leftover = await seat('Leftover', ['trainings:delete'])
  const changes = { permissions: ['trainings:create', 'trainings:update'] }
  t.equal((await ask('PUT', `/v1/seats/${id}`, admin, changes)).status, 200)
  t.equal((await ask('DELETE', `/v1/seats/${leftover.id}`, admin)).status, 204)
  const viewer = await made('/v1/api-keys', { name: 'export', seats: ['Viewer'] })
  const revoked = await made('/v1/api-keys', { name: 'lost', seats: ['Viewer'], owner: 'dora' })
  await made('/v1/grants', {
    user: 'carol',
    seat: 'Editor',
    until: new Date(Date.now() + 3_600_000).toISOString(),
  })
  await made('/v1/blocks', { user: 'mallory' })
  await made('/v1/revocations', { subject: { user: 'dora' } })
  const { json } = await ask('GET', '/v1/audit?limit=100', admin)
  await gateway.end('SIGTERM')
  const keys = { admin: key, viewer: viewer.key, revoked: revoked.key }
  return { keys, seats: ['admin', 'Viewer', 'Editor'], blocked: 'mallory', audit: json.data.length }
}

/** Decisions, lists and writes on the store of a release. */
async function takes(t: Test, setting: Setting, facts: Facts): Promise<void> {
  t.match(await setting.run('check', '--online'), /no faults/)
  const gateway = await setting.start(t)
  const ask = asking(gateway)
  const of = (key: string, space: string) => ({ 'x-api-key': key, Space: space })
  const { admin, viewer, revoked } = facts.keys
  const reads = async (headers: Record<string, string>) => (await ask('GET', '/v1/trainings', headers)).status
  t.equal(await reads(of(viewer, 'main')), 200)
  t.equal(await reads(of(viewer, 'other')), 403)
  t.equal(await reads(of(revoked, 'main')), 401)
  t.equal(await reads(await setting.tokenOf('alice')), 200)
  const blocked = await ask('GET', '/v1/trainings', await setting.tokenOf(facts.blocked))
  t.match(blocked, { status: 403, json: { code: 'caller_blocked' } })

  const list = async (path: string) => (await ask('GET', path, of(admin, 'admin'))).json.data
  const names = (await list('/v1/seats')).map(({ name }: { name: string }) => name)
  t.same(names.sort(), [...facts.seats].sort())
  t.match(await list('/v1/blocks'), [{ user: facts.blocked }])
  t.match(await list('/v1/revocations'), [{ subject: { user: 'dora' } }])
  t.equal((await list('/v1/audit?limit=100')).length, facts.audit)

  const body = { name: 'New', spaces: ['main'], permissions: ['trainings:list'] }
  t.equal((await ask('POST', '/v1/seats', of(admin, 'admin'), body)).status, 200)
  t.equal((await list('/v1/audit?limit=100')).length, facts.audit + 1)
  await gateway.end('SIGTERM')
  await setting.run('audit', 'verify')
}

/** @param from the folder with the configuration */
function settingFrom(t: Test, from: string): string {
  const folder = serverFolder(t, 'release')
  for (const name of CONFIGURATION) cpSync(join(from, name), join(folder, name), { recursive: true })
  mkdirSync(join(folder, 'store'))
  return folder
}

// A server is for all tests of the file.
const whole = t

for (const driver of DRIVERS) {
  if (written !== undefined)
    await t.test(`writes ${written}: ${driver.name}`, async (t) => {
      const folder = settingFrom(t, '.')
      const store = await driver.open(whole, join(folder, 'store'))
      const facts = await live(t, new Setting(folder, store))
      await keep(written, driver, { folder, store, facts })
    })
  for (const version of keptVersions())
    await t.test(`takes ${version}: ${driver.name}`, async (t) => {
      const folder = settingFrom(t, join(UPGRADES, version))
      const store = await driver.open(whole, join(folder, 'store'), fileOf(version, driver))
      await takes(t, new Setting(folder, store), factsOf(version, driver))
    })
}
