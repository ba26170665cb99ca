/** Somebody who adds steps keeps the palette, also when the flow is opened again after it was saved. */
let hasAdded = false;

export const noteAdding = () => {
  hasAdded = true;
};

export const isAdding = () => hasAdded;
