"""How precise the review's rules are: hits are collected, labelled blind, and counted.

See README.md beside this file.
"""
