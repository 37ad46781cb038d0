/** The program of a worker. */

// Before anything else is loaded: without a listener, SIGUSR1 opens a debugger and SIGUSR2 ends the process.
for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})

const { extensions } = await import('./composition.ts')
const { runWorker } = await import('./runtime/workers/run-worker.ts')
runWorker(extensions)
