/** A server on this machine, by its Unix socket. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { giveTo, ordinaryUser, serverFolder } from '../../../support/servers/folder.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { done, writer } from '../conformance.ts'
import { emptyDatabase, open } from './support.ts'

t.test('the folder of the socket in the place of the host', async (t) => {
  const folder = serverFolder(t, 'socket')
  giveTo(folder, ordinaryUser(), 0o700)
  const access = join(folder, 'hba')
  // Of the network, only the databases of the tests are made.
  writeFileSync(access, 'local all all scram-sha-256\nhost postgres all 127.0.0.1/32 scram-sha-256\n')
  giveTo(access, ordinaryUser(), 0o600)
  const settings = [`unix_socket_directories = '${folder}'`, `hba_file = '${access}'`]
  const server = await startPostgres(t, { settings, fsync: false })
  const url = (await emptyDatabase(server)).replace('@127.0.0.1', `@${encodeURIComponent(folder)}`)
  const store = await open(t, { url })
  done(await store.createSeat(writer(), { name: 'a', spaces: [], permissions: [] }))
  t.match(url, `@%2F`)
})
