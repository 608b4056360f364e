//! `killick undo`
