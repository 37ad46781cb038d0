/** As in `unread-bodies.test.ts`, with a server of Go. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { tlsOptions } from '../../../src/http/client/connector.ts'
import { Authority } from '../../proxy/authority.ts'
import { serverFolder } from '../../support/servers/folder.ts'
import { builtByGo, cannotBuild } from '../../support/servers/go.ts'
import { testUnreadBodies } from './unread-bodies.ts'

const SOURCE = fileURLToPath(new URL('../../proxy/http2/go-server/main.go', import.meta.url))

t.test('a server of Go', { skip: cannotBuild }, async (t) => {
  const program = await builtByGo(t, SOURCE)
  const folder = serverFolder(t, 'go-server')
  const authority = new Authority()
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  for (const [name, text] of Object.entries(authority.issue({ names: ['127.0.0.1'] })))
    if (name in files) writeFileSync(join(folder, `${name}.pem`), text)
  const server = spawn(program, [files.cert, files.key], { stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => server.kill('SIGKILL'))
  const [printed] = await once(server.stdout, 'data')
  await testUnreadBodies(t, { port: Number(printed), tls: tlsOptions({ ca: authority.cert }) })
})
