/** TLS to a real server: what each mode accepts and refuses. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { pipeline } from 'node:stream'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../../seats-admin/index.ts'
import { openPostgresStore } from '../../../../seats-admin/store/postgres/postgres-store.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { CERTIFICATES } from '../../../support/servers/tls.ts'
import { done, writer } from '../conformance.ts'
import { emptyDatabase, open } from './support.ts'

const { ca, client, clientKey, server: pinned } = CERTIFICATES.files
/** A loopback address that the certificate doesn't contain. */
const OTHER = '127.0.0.2'

/** The same server at another address; null if the machine has none. */
async function forward(t: Test, port: number): Promise<number | null> {
  const server = createServer((socket) => pipeline(socket, connect(port, '127.0.0.1'), socket, () => {}))
  server.listen(0, OTHER)
  try {
    await once(server, 'listening')
  } catch {
    return null
  }
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

async function works(t: Test, url: string): Promise<void> {
  const store = await open(t, { url })
  done(await store.createSeat(writer(), { name: `s${Math.random()}`, spaces: [], permissions: [] }))
}

async function refused(t: Test, url: string, why: RegExp): Promise<void> {
  const opening = openPostgresStore({ url, timeout: 60_000 })
  await t.rejects(opening, StoreUnavailable)
  await t.rejects(opening, why)
}

t.test('a server with a certificate', async (t) => {
  const server = await startPostgres(t, { tls: 'server', fsync: false })
  const base = await emptyDatabase(server)
  const url = (query: string, host = '127.0.0.1') => `${base.replace('127.0.0.1', host)}?${query}`
  await refused(t, base, /no encryption/)
  await works(t, url('sslmode=require'))
  await works(t, url(`sslmode=require&sslrootcert=${ca}`))
  await works(t, url(`sslmode=verify-ca&sslrootcert=${ca}`))
  await works(t, url(`sslmode=verify-full&sslrootcert=${ca}`))
  await works(t, url(`sslmode=verify-full&sslrootcert=${ca}`, 'localhost'))
  await works(t, url(`sslmode=verify-full&sslrootcert=${pinned}`))
  await refused(t, url('sslmode=verify-full'), /certificate/)
  await refused(t, url(`sslmode=verify-full&sslrootcert=${client}`), /certificate/)
  await refused(t, url(`sslmode=verify-ca&sslrootcert=${client}`), /certificate/)
  const port = await forward(t, server.port)
  if (port === null) return t.pass({ skip: 'this machine has no other loopback address' })
  const elsewhere = (query: string) => url(query).replace(`127.0.0.1:${server.port}`, `${OTHER}:${port}`)
  await works(t, elsewhere(`sslmode=verify-ca&sslrootcert=${ca}`))
  return refused(t, elsewhere(`sslmode=verify-full&sslrootcert=${ca}`), /not in the cert's list/)
})

t.test('a server that requires a client certificate', async (t) => {
  const server = await startPostgres(t, { tls: 'mutual', fsync: false })
  const url = `${await emptyDatabase(server)}?sslmode=verify-full&sslrootcert=${ca}`
  await refused(t, url, /certificate/)
  await works(t, `${url}&sslcert=${client}&sslkey=${clientKey}`)
})
