// A worker of the gateway, started by `workers/pool.ts` on the project's own Node.js. Plain JavaScript, so that the
// compile cache is on before the first TypeScript file is read.

import module from 'node:module'

module.enableCompileCache()
await import('./worker.ts')
