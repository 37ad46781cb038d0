// A worker of a clone, started by `runtime/workers/worker-pool.ts` on the project's own Node.js. Plain JavaScript, so that
// the compile cache is on before the first TypeScript file is read. The package has the compiled `worker.ts` at this path.

import module from 'node:module'

module.enableCompileCache()
await import('./worker.ts')
