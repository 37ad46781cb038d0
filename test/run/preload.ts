/** Preloaded into the process of a test file (`--import`): `import t from 'tap'` takes the bundle. */

import { registerHooks } from 'node:module'
import { TAP_BUNDLE } from './tap-bundle.ts'

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'tap'
      ? { url: TAP_BUNDLE, format: 'module', shortCircuit: true }
      : next(specifier, context),
})
