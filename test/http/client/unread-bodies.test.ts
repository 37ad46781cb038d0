/**
 * A target whose windows come back as its handlers read: one body that was not read took the window of the connection, and
 * the bodies of all others were 504. Here with a server of single frames; with one of Go in `unread-bodies-go.slow.test.ts`.
 */

import t from 'tap'
import { serveRaw } from '../../proxy/support.ts'
import { serveReadWindows } from '../../support/read-window-server.ts'
import { testUnreadBodies } from './unread-bodies.ts'

await testUnreadBodies(t, { port: await serveRaw(t, serveReadWindows), tls: null })
