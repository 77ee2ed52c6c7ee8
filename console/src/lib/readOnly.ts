// Whether this console is for looking only: then nothing that writes is shown, because no login would help.
import { computed } from '@preact/signals'
import { session } from './session'

export const isReadOnly = computed(() => session.value?.read_only === true)
