/** More mutated responses than in `hostile-mutations.test.ts`. */

import t from 'tap'
import { playMutated } from '../hostile/fuzz/mutated-answers.ts'

t.test('3000 mutated responses', (t) => playMutated(t, 3000))
