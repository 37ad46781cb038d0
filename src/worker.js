// A worker of the gateway, started by `runtime/workers/worker-pool.ts` on the project's own Node.js. Plain
// JavaScript, so that the compile cache is on before the first TypeScript file is read.

import module from 'node:module'

// Not later: without a listener, SIGUSR1 opens a debugger and SIGUSR2 ends the process.
for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => {})
module.enableCompileCache()
await import('./worker.ts')
