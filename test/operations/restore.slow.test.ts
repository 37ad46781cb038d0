/**
 * A store that is restored from a backup of before a revocation: without its receipt, the voided token is accepted; with
 * it, `seatgate revoke --from` has the token refused on the first request served (docs/revocation.md).
 */

import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { seatgate, SECRET } from '../cli/command-line.ts'
import { keyFile } from '../identity/support.ts'
import { adminRequest, Client } from '../support/client.ts'
import { writeConfiguration } from '../support/configuration.ts'
import { GatewayProcess } from '../support/gateway-process.ts'
import { ordinaryUser, serverFolder } from '../support/servers/folder.ts'
import { findPostgres } from '../support/servers/postgres-template.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { served } from '../support/served.ts'

const run = promisify(execFile)
const ENV = { GLOBEX_SECRET: `${SECRET}, of globex` }

interface Backups {
  /** The value of `store`. */
  readonly store: string
  /** Makes a backup. A gateway runs. */
  backUp(folder: string): Promise<void>
  /** Puts the backup in place. No gateway runs. */
  restore(folder: string): Promise<void>
}

const KINDS: Readonly<Record<string, (t: Test) => Promise<Backups>>> = {
  SQLite: sqlite,
  PostgreSQL: postgres,
}

async function sqlite(): Promise<Backups> {
  const files = (folder: string) => ['', '-wal', '-shm'].map((end) => join(folder, `seatgate.db${end}`))
  return {
    store: 'sqlite:./seatgate.db',
    async backUp(folder) {
      const { DatabaseSync } = await import('node:sqlite')
      const database = new DatabaseSync(join(folder, 'seatgate.db'), { readOnly: true })
      database.exec(`VACUUM INTO '${join(folder, 'copy.db')}'`)
      database.close()
    },
    async restore(folder) {
      for (const file of files(folder)) rmSync(file, { force: true })
      cpSync(join(folder, 'copy.db'), join(folder, 'seatgate.db'))
    },
  }
}

async function postgres(t: Test): Promise<Backups> {
  const server = await startPostgres(t)
  const user = ordinaryUser()
  const base = join(serverFolder(t, 'base', user), 'data')
  const [{ data_directory: data } = {}] = await server.query('SHOW data_directory')
  const { program } = await findPostgres()
  const url = new URL(server.url)
  return {
    store: await server.createDatabase('seatgate'),
    async backUp() {
      const from = ['-h', url.hostname, '-p', url.port, '-U', url.username]
      const env = { ...program.env, PGPASSWORD: decodeURIComponent(url.password) }
      const path = join(dirname(program.path), 'pg_basebackup')
      await run(path, [...from, '-D', base, '--checkpoint=fast', '--no-sync'], { env, ...user })
    },
    async restore() {
      await server.stop()
      await run('sh', ['-c', `rm -rf "${data}" && cp -R -p "${base}" "${data}"`])
      await server.start()
    },
  }
}

const { program } = await findPostgres()
const hasBaseBackup = existsSync(join(dirname(program.path), 'pg_basebackup'))

for (const [kind, begin] of Object.entries(KINDS)) {
  const skip = kind === 'PostgreSQL' && !hasBaseBackup && 'there is no pg_basebackup'
  t.test(kind, { skip }, async (t) => {
    const { store, backUp, restore } = await begin(t)
    const folder = serverFolder(t, 'restored')
    mkdirSync(join(folder, 'receipts'))
    writeConfiguration(folder, { store, top: [`identity: { keys: ["${keyFile(t)}"] }`] })
    const command = async (args: readonly string[], env = {}) => {
      const { code, out, err } = await seatgate(folder, args, { ...ENV, ...env })
      if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${err}`)
      return out
    }
    const key = (await command(['bootstrap', '--tenant', 'acme', '--out', 'admin.key'])) && readKey(folder)
    const start = async () => (await GatewayProcess.launch(t, { folder })).listens()
    /** Of the first decision that the gateway has made: 503 is none. */
    const answer = (port: number, token: string) =>
      served(async () => {
        const client = new Client(port)
        const { status, json } = await client.send('GET', '/v1/me', { authorization: `Bearer ${token}` })
        client.close()
        return { status, code: json?.code }
      })
    const mint = async () =>
      (await command(['token', '--tenant', 'acme', '--sub', 'anna', '--seat', 'admin'])).trim()

    const first = await start()
    const token = await mint()
    const owned = await new Client(first.port).send(
      'POST',
      '/v1/api-keys',
      ...adminRequest(key, { name: 'hers', seats: ['admin'], owner: 'anna' }),
    )
    t.not((await answer(first.port, token)).status, 401)
    await backUp(folder)
    const remote = { SEATGATE_URL: first.origin, SEATGATE_API_KEY: key }
    await command(['revoke', 'user', 'anna', '--sub', '--all', '--yes', '--receipt', 'receipts/anna'], remote)
    t.match(await answer(first.port, token), { status: 401, code: 'token_revoked' })
    await first.end()

    await restore(folder)
    const forgetful = await start()
    t.not((await answer(forgetful.port, token)).status, 401, 'the restored store has lost the revocation')
    await forgetful.end()

    await restore(folder)
    const out = await command(['revoke', '--from', 'receipts'])
    t.match(out, /^\S+Z +acme +user:anna +0 +1\n\nuser "anna" of acme is blocked again/m)
    t.match(out, /^1 revocation made again, 0 that the store has$/m)
    const last = await start()
    t.match(
      await answer(last.port, token),
      { status: 401, code: 'token_revoked' },
      'the first request served',
    )
    const client = new Client(last.port)
    const revoked = await served(() => client.send('GET', '/v1/me', { 'x-api-key': String(owned.json.key) }))
    client.close()
    t.match(revoked.json, { code: 'api_key_revoked' })
    const later = await answer(last.port, await mint())
    t.match(later, { status: 403, code: 'caller_blocked' }, 'a later token is under the block alone')

    const again = await command(['revoke', '--from', 'receipts', '--json'])
    t.match(JSON.parse(again).data, [{ tenant: 'acme', subject: { user: 'anna' }, applied: false }])
    const intact = await command(['audit', 'verify', '--tenant', 'acme'])
    t.match(intact, 'is intact')
    await last.end()
  })
}

function readKey(folder: string): string {
  return readFileSync(join(folder, 'admin.key'), 'utf8').trim()
}
