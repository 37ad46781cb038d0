// The thread of a clone. Plain JavaScript, so that the compile cache is on before the first TypeScript file is read. The
// package has the compiled `build-tables-thread.ts` at this path.

import module from 'node:module'

module.enableCompileCache()
await import('./build-tables-thread.ts')
