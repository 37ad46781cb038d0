/** Connections that end or stall at the wrong time, and responses in any pieces, over TLS. */

import { speakTls } from './hop.ts'

speakTls()
await import('./hostile-ends.slow.test.ts')
await import('./hostile-pieces.slow.test.ts')
